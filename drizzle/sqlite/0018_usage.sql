CREATE TABLE `budgets` (
	`id` text PRIMARY KEY NOT NULL,
	`scope` text NOT NULL,
	`account` text NOT NULL,
	`chat_id` text,
	`kind` text NOT NULL,
	`per` text NOT NULL,
	`quantity` integer NOT NULL,
	`currency` text,
	`timezone` text,
	`set_by` text NOT NULL,
	`set_at` integer NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL,
	`spent` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `budgets_account` ON `budgets` (`account`);--> statement-breakpoint
CREATE INDEX `budgets_chat` ON `budgets` (`chat_id`);--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_usage` (
	`id` text PRIMARY KEY NOT NULL,
	`run_id` text,
	`attempt` integer NOT NULL,
	`kind` text NOT NULL,
	`source` text NOT NULL,
	`quantity` integer NOT NULL,
	`currency` text,
	`price_version` text,
	`task_id` text,
	`owner_id` text NOT NULL,
	`chat_id` text,
	`at` integer NOT NULL
);
--> statement-breakpoint
INSERT INTO `__new_usage` (id, run_id, attempt, kind, source, quantity, task_id, owner_id, chat_id, at)
	SELECT u.run_id || ' 0 ' || u.kind || ' ', u.run_id, 0, u.kind, '', u.quantity, u.task_id, u.owner_id, u.chat_id, coalesce(r.created_at, u.at)
	FROM `usage` u LEFT JOIN `runs` r ON r.id = u.run_id WHERE u.kind IN ('requests', 'bytes', 'seconds', 'tokens', 'money');--> statement-breakpoint
DROP TABLE `usage`;--> statement-breakpoint
ALTER TABLE `__new_usage` RENAME TO `usage`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `usage_run` ON `usage` (`run_id`);--> statement-breakpoint
CREATE INDEX `usage_owner` ON `usage` (`owner_id`,`at`);--> statement-breakpoint
CREATE INDEX `usage_chat` ON `usage` (`chat_id`,`at`);--> statement-breakpoint
CREATE INDEX `usage_task` ON `usage` (`task_id`,`at`);--> statement-breakpoint
ALTER TABLE `runs` ADD `reserved_at` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `reserved_requests` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `reserved_tokens` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `reserved_money` integer;--> statement-breakpoint
ALTER TABLE `runs` ADD `reserved_currency` text;--> statement-breakpoint
CREATE INDEX `runs_reserved_chat` ON `runs` (`chat_id`) WHERE reserved_at is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX `runs_reserved_owner` ON `runs` (`owner_id`) WHERE reserved_at is not null and status in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX `runs_reserved_task` ON `runs` (`task_id`) WHERE reserved_at is not null and status in ('queued', 'running', 'backoff', 'waiting');