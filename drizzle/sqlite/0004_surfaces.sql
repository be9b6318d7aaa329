ALTER TABLE `audit` ADD `trace_id` text;--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `answer` text;--> statement-breakpoint
ALTER TABLE `runs` ADD `trace_id` text;--> statement-breakpoint
CREATE INDEX `tasks_list` ON `tasks` (`chat_id`,`id`);--> statement-breakpoint
CREATE INDEX `tasks_of_grant` ON `tasks` (`grant_id`);