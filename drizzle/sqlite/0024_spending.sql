DROP INDEX `runs_reserved_task`;--> statement-breakpoint
DROP INDEX `runs_reserved_chat`;--> statement-breakpoint
DROP INDEX `runs_reserved_owner`;--> statement-breakpoint
UPDATE `runs` SET reserved_at = null WHERE reserved_at is not null and status not in ('queued', 'running', 'backoff', 'waiting');--> statement-breakpoint
CREATE INDEX `runs_reserved_chat` ON `runs` (`chat_id`) WHERE reserved_at is not null;--> statement-breakpoint
CREATE INDEX `runs_reserved_owner` ON `runs` (`owner_id`) WHERE reserved_at is not null;--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_usage` (
	`run_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`kind` text NOT NULL,
	`source` text NOT NULL,
	`quantity` integer NOT NULL,
	`currency` text,
	`price_version` text,
	`task_id` text,
	`owner_id` text NOT NULL,
	`chat_id` text,
	`at` integer NOT NULL,
	PRIMARY KEY(`run_id`, `attempt`, `kind`, `source`)
);
--> statement-breakpoint
INSERT INTO `__new_usage`("run_id", "attempt", "kind", "source", "quantity", "currency", "price_version", "task_id", "owner_id", "chat_id", "at") SELECT coalesce("run_id", "id"), "attempt", "kind", "source", "quantity", "currency", "price_version", "task_id", "owner_id", "chat_id", "at" FROM `usage`;--> statement-breakpoint
DROP TABLE `usage`;--> statement-breakpoint
ALTER TABLE `__new_usage` RENAME TO `usage`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `usage_owner` ON `usage` (`owner_id`,`at`);--> statement-breakpoint
CREATE INDEX `usage_chat` ON `usage` (`chat_id`,`at`);--> statement-breakpoint
CREATE INDEX `usage_task` ON `usage` (`task_id`,`at`);