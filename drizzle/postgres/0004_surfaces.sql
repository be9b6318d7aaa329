ALTER TABLE "audit" ADD COLUMN "trace_id" text;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD COLUMN "answer" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "trace_id" text;