CREATE TABLE `acks` (
	`occurrence_id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`chat_id` text NOT NULL,
	`run_id` text,
	`status` text NOT NULL,
	`nag_every_ms` integer,
	`nag_limit` integer NOT NULL,
	`nags` integer NOT NULL,
	`nag_at` integer,
	`nag_delivery_id` text,
	`done_at` integer,
	`done_by` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "acks_status" CHECK(status in ('open', 'done', 'given_up', 'superseded', 'dropped')),
	CONSTRAINT "acks_done" CHECK((status = 'done') = (done_at is not null))
);
--> statement-breakpoint
CREATE INDEX `acks_due` ON `acks` (`nag_at`) WHERE status = 'open' and nag_at is not null;--> statement-breakpoint
CREATE INDEX `acks_open` ON `acks` (`task_id`) WHERE status = 'open';--> statement-breakpoint
ALTER TABLE `deliveries` ADD `urgent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `silent` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `held_until` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `only_for` text;--> statement-breakpoint
CREATE INDEX `deliveries_held` ON `deliveries` (`chat_id`,`held_until`) WHERE held_until is not null;