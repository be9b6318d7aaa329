ALTER TABLE `downtimes` ADD `cause` text;--> statement-breakpoint
CREATE INDEX `tasks_failed_too_often` ON `tasks` (`paused_at`) WHERE paused_reason = 'auto:consecutive_failures';