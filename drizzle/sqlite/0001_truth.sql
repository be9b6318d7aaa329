CREATE TABLE `downtimes` (
	`id` text PRIMARY KEY NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL,
	`report` text,
	`reported_at` integer
);
--> statement-breakpoint
CREATE INDEX `downtimes_open` ON `downtimes` (`to_at`) WHERE report is null;--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY NOT NULL,
	`tx` integer DEFAULT 0 NOT NULL,
	`at` integer NOT NULL,
	`kind` text NOT NULL,
	`task_id` text,
	`ref` text,
	`data` text
);
--> statement-breakpoint
CREATE TABLE `task_versions` (
	`task_id` text NOT NULL,
	`version` integer NOT NULL,
	`at` integer NOT NULL,
	`actor` text NOT NULL,
	`definition` text NOT NULL,
	PRIMARY KEY(`task_id`, `version`)
);
--> statement-breakpoint
ALTER TABLE `audit` ADD `state_before` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `state_after` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `resume_at` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `skips_until` integer;--> statement-breakpoint
CREATE INDEX `tasks_resume` ON `tasks` (`resume_at`) WHERE resume_at is not null;--> statement-breakpoint
CREATE INDEX `occurrences_snoozed` ON `occurrences` (`slot_at`) WHERE status = 'pending' and source = 'snooze';--> statement-breakpoint
CREATE INDEX `occurrences_replay` ON `occurrences` (`replay_of`) WHERE replay_of is not null;