DROP INDEX `tasks_subject`;--> statement-breakpoint
ALTER TABLE `tasks` ADD `max_runs` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `refresh_ms` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `bounded_since` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tasks` ADD `fresh_at` integer;--> statement-breakpoint
CREATE INDEX `tasks_stale` ON `tasks` ((fresh_at + refresh_ms)) WHERE refresh_ms is not null and state = 'active';--> statement-breakpoint
CREATE INDEX `tasks_failed_too_often` ON `tasks` (`paused_at`) WHERE paused_reason = 'auto:consecutive_failures';--> statement-breakpoint
CREATE INDEX `tasks_subject` ON `tasks` (`subject`,`id`) WHERE subject is not null;--> statement-breakpoint
ALTER TABLE `chats` ADD `approved_at` integer;--> statement-breakpoint
ALTER TABLE `downtimes` ADD `cause` text;