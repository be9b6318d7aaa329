CREATE TABLE `standing` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`task_id` text NOT NULL,
	`chat_id` text NOT NULL,
	`delivery_id` text NOT NULL,
	`due_at` integer,
	`drawn_at` integer,
	`print` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `standing_due` ON `standing` (`due_at`,`chat_id`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `standing_task` ON `standing` (`task_id`);--> statement-breakpoint
ALTER TABLE `chats` ADD `shared_topic` integer;--> statement-breakpoint
ALTER TABLE `tasks` ADD `topic_shared` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO standing (id, kind, task_id, chat_id, delivery_id, due_at, created_at)
	SELECT 'card:' || t.id, 'card', t.id, t.chat_id, max(d.id), 0, max(d.created_at) FROM tasks t JOIN deliveries d ON d.task_id = t.id
	WHERE d.kind = 'card' AND d.edits IS NULL AND d.status = 'delivered' AND d.message_id = t.card_message_id AND t.state <> 'deleted' GROUP BY t.id, t.chat_id;