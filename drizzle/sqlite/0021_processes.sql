CREATE TABLE `processes` (
	`id` text PRIMARY KEY NOT NULL,
	`role` text NOT NULL,
	`release` text NOT NULL,
	`kinds` text NOT NULL,
	`host` text NOT NULL,
	`pid` integer NOT NULL,
	`started_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`lease_until` integer NOT NULL,
	`held_since` integer NOT NULL,
	`ended_at` integer
);
--> statement-breakpoint
ALTER TABLE `attempts` ADD `job_id` text;--> statement-breakpoint
CREATE INDEX `deliveries_lost` ON `deliveries` (`id`) WHERE status = 'sending' and substr(boot_id, 1, 5) = 'lost:';--> statement-breakpoint
CREATE INDEX `runs_lost` ON `runs` (`id`) WHERE status = 'running' and substr(boot_id, 1, 5) = 'lost:';