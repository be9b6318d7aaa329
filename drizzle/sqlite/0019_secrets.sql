CREATE TABLE `secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`chat_id` text,
	`name` text NOT NULL,
	`key_id` text NOT NULL,
	`box` text NOT NULL,
	`version` integer NOT NULL,
	`hosts` text NOT NULL,
	`chats` text NOT NULL,
	`set_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`chat_id`) REFERENCES `chats`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `secrets_of_chat` ON `secrets` (`chat_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `secrets_of_operator` ON `secrets` (`name`) WHERE chat_id is null;