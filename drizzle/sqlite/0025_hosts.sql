CREATE TABLE `host_calls` (
	`host` text NOT NULL,
	`run_id` text NOT NULL,
	`turn` text NOT NULL,
	`status` text NOT NULL,
	`fence` integer NOT NULL,
	`boot_id` text,
	`kept_at` integer NOT NULL,
	PRIMARY KEY(`host`, `run_id`)
);
--> statement-breakpoint
CREATE INDEX `host_calls_waiting` ON `host_calls` (`host`,`turn`,`run_id`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `host_calls_held` ON `host_calls` (`host`) WHERE status <> 'waiting';--> statement-breakpoint
CREATE TABLE `hosts` (
	`host` text PRIMARY KEY NOT NULL,
	`began` text NOT NULL,
	`ends` text NOT NULL,
	`held_until` integer NOT NULL,
	`breaker` text NOT NULL,
	`open_until` integer NOT NULL,
	`times` integer NOT NULL,
	`last_turn` text NOT NULL,
	`forgettable_from` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `hosts_forgettable` ON `hosts` (`forgettable_from`);