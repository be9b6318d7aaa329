ALTER TABLE `chats` ADD `shared_topic` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `topic_shared` integer DEFAULT 0 NOT NULL;