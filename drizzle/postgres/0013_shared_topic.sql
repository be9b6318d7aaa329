ALTER TABLE "chats" ADD COLUMN "shared_topic" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "topic_shared" bigint DEFAULT 0 NOT NULL;