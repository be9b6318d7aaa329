DROP INDEX "tasks_subject";--> statement-breakpoint
ALTER TABLE "chats" ADD COLUMN "approved_at" bigint;--> statement-breakpoint
ALTER TABLE "downtimes" ADD COLUMN "cause" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "free_attempts" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "max_runs" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "refresh_ms" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "bounded_since" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "fresh_at" bigint;--> statement-breakpoint
CREATE INDEX "tasks_stale" ON "tasks" USING btree ((fresh_at + refresh_ms)) WHERE refresh_ms is not null and state = 'active';--> statement-breakpoint
CREATE INDEX "tasks_failed_too_often" ON "tasks" USING btree ("paused_at") WHERE paused_reason = 'auto:consecutive_failures';--> statement-breakpoint
CREATE INDEX "tasks_waiting_for_owner" ON "tasks" USING btree ("owner_id") WHERE paused_reason = 'auto:owner_gone';--> statement-breakpoint
CREATE INDEX "tasks_subject" ON "tasks" USING btree ("subject","id") WHERE subject is not null;--> statement-breakpoint
UPDATE tasks SET fresh_at = last_run_at WHERE last_run_status = 'succeeded';--> statement-breakpoint
UPDATE tasks SET max_runs = CAST(substring(policies FROM '"max_runs":([0-9]+)') AS bigint) WHERE policies LIKE '%"max_runs":%';--> statement-breakpoint
UPDATE tasks SET bounded_runs = greatest(0, bounded_runs - (
	SELECT count(*) FROM runs JOIN occurrences o ON o.id = runs.occurrence_id
	WHERE runs.task_id = tasks.id AND runs.status IN ('queued', 'running', 'backoff', 'waiting') AND o.source IN ('schedule', 'catch_up')
)) WHERE id IN (SELECT task_id FROM runs WHERE status IN ('queued', 'running', 'backoff', 'waiting'));