CREATE TABLE `members` (
	`chat_id` text NOT NULL,
	`user_id` text NOT NULL,
	`status` text NOT NULL,
	`checked_at` integer NOT NULL,
	PRIMARY KEY(`chat_id`, `user_id`),
	CONSTRAINT "members_status" CHECK(status in ('admin', 'member', 'out'))
);
--> statement-breakpoint
ALTER TABLE `chats` ADD `state_before` text;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `goes_to` text DEFAULT 'task' NOT NULL;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `to_topic` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `edits` integer;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `doubted_at` integer;--> statement-breakpoint
CREATE INDEX `deliveries_message` ON `deliveries` (`platform_chat_id`,`message_id`) WHERE message_id is not null;--> statement-breakpoint
CREATE INDEX `deliveries_sent` ON `deliveries` (`sent_at`) WHERE sent_at is not null;--> statement-breakpoint
ALTER TABLE `inbox` ADD `address` text;--> statement-breakpoint
ALTER TABLE `inbox` ADD `message_id` integer;--> statement-breakpoint
CREATE INDEX `inbox_message` ON `inbox` (`address`,`message_id`) WHERE message_id is not null;--> statement-breakpoint
ALTER TABLE `tasks` ADD `topic_called_at` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `topic_lost` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `card_message_id` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `incident` text;--> statement-breakpoint
ALTER TABLE `tasks` ADD `incident_at` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `incident_failures` integer;--> statement-breakpoint
CREATE INDEX `tasks_place` ON `tasks` (`chat_id`,`topic_id`) WHERE topic_id is not null;--> statement-breakpoint
CREATE INDEX `tasks_topic_called` ON `tasks` (`topic_called_at`) WHERE topic_called_at is not null;