DROP INDEX "tasks_subject";--> statement-breakpoint
ALTER TABLE "chats" ADD COLUMN "approved_at" bigint;--> statement-breakpoint
ALTER TABLE "downtimes" ADD COLUMN "cause" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "max_runs" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "refresh_ms" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "bounded_since" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "fresh_at" bigint;--> statement-breakpoint
CREATE INDEX "tasks_stale" ON "tasks" USING btree ((fresh_at + refresh_ms)) WHERE refresh_ms is not null and state = 'active';--> statement-breakpoint
CREATE INDEX "tasks_failed_too_often" ON "tasks" USING btree ("paused_at") WHERE paused_reason = 'auto:consecutive_failures';--> statement-breakpoint
CREATE INDEX "tasks_subject" ON "tasks" USING btree ("subject","id") WHERE subject is not null;