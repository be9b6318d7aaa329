ALTER TABLE "downtimes" ADD COLUMN "cause" text;--> statement-breakpoint
CREATE INDEX "tasks_failed_too_often" ON "tasks" USING btree ("paused_at") WHERE paused_reason = 'auto:consecutive_failures';