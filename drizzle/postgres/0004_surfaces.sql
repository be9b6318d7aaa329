ALTER TABLE "audit" ADD COLUMN "trace_id" text;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "answer" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "trace_id" text;--> statement-breakpoint
CREATE INDEX "tasks_list" ON "tasks" USING btree ("chat_id","id");--> statement-breakpoint
CREATE INDEX "tasks_of_grant" ON "tasks" USING btree ("grant_id");