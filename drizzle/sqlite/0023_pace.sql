CREATE TABLE `pace` (
	`scope` text PRIMARY KEY NOT NULL,
	`address` text NOT NULL,
	`boot_id` text,
	`open` integer NOT NULL,
	`waiting` integer NOT NULL,
	`ends` text NOT NULL,
	`held_until` integer NOT NULL,
	`told_at` integer NOT NULL,
	`told_ms` integer NOT NULL,
	`free_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `pace_busy` ON `pace` (`scope`) WHERE open + waiting > 0;--> statement-breakpoint
CREATE INDEX `pace_held` ON `pace` (`free_at`);--> statement-breakpoint
ALTER TABLE `inbox` ADD `lane` text;--> statement-breakpoint
ALTER TABLE `inbox` ADD `boot_id` text;--> statement-breakpoint
CREATE INDEX `inbox_lane` ON `inbox` (`lane`,`update_id`) WHERE status = 'received';