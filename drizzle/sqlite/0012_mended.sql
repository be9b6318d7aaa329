DROP INDEX `tasks_subject`;--> statement-breakpoint
ALTER TABLE `tasks` ADD `max_runs` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `refresh_ms` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `bounded_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `fresh_at` integer;--> statement-breakpoint
CREATE INDEX `tasks_stale` ON `tasks` ((fresh_at + refresh_ms)) WHERE refresh_ms is not null and state = 'active';--> statement-breakpoint
CREATE INDEX `tasks_failed_too_often` ON `tasks` (`paused_at`) WHERE paused_reason = 'auto:consecutive_failures';--> statement-breakpoint
CREATE INDEX `tasks_waiting_for_owner` ON `tasks` (`owner_id`) WHERE paused_reason = 'auto:owner_gone';--> statement-breakpoint
CREATE INDEX `tasks_subject` ON `tasks` (`subject`,`id`) WHERE subject is not null;--> statement-breakpoint
ALTER TABLE `chats` ADD `approved_at` integer;--> statement-breakpoint
ALTER TABLE `downtimes` ADD `cause` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `free_attempts` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE tasks SET fresh_at = last_run_at WHERE last_run_status = 'succeeded';--> statement-breakpoint
UPDATE tasks SET max_runs = CASE WHEN json_valid(policies) THEN json_extract(policies, '$.max_runs') END WHERE policies LIKE '%"max_runs":%';--> statement-breakpoint
UPDATE tasks SET bounded_runs = max(0, bounded_runs - (
	SELECT count(*) FROM runs JOIN occurrences o ON o.id = runs.occurrence_id
	WHERE runs.task_id = tasks.id AND runs.status IN ('queued', 'running', 'backoff', 'waiting') AND o.source IN ('schedule', 'catch_up')
)) WHERE id IN (SELECT task_id FROM runs WHERE status IN ('queued', 'running', 'backoff', 'waiting'));