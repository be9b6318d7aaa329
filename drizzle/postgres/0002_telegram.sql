CREATE TABLE "members" (
	"chat_id" text NOT NULL,
	"user_id" text NOT NULL,
	"status" text NOT NULL,
	"checked_at" bigint NOT NULL,
	CONSTRAINT "members_pk" PRIMARY KEY("chat_id","user_id"),
	CONSTRAINT "members_status" CHECK (status in ('admin', 'member', 'out'))
);
--> statement-breakpoint
ALTER TABLE "chats" ADD COLUMN "state_before" text;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "goes_to" text DEFAULT 'task' NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "to_topic" bigint;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "edits" bigint;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "doubted_at" bigint;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "address" text;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "message_id" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "topic_called_at" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "topic_lost" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "card_message_id" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "incident" text;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "incident_at" bigint;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "incident_failures" bigint;--> statement-breakpoint
CREATE INDEX "deliveries_message" ON "deliveries" USING btree ("platform_chat_id","message_id") WHERE message_id is not null;--> statement-breakpoint
CREATE INDEX "deliveries_sent" ON "deliveries" USING btree ("sent_at") WHERE sent_at is not null;--> statement-breakpoint
CREATE INDEX "inbox_message" ON "inbox" USING btree ("address","message_id") WHERE message_id is not null;--> statement-breakpoint
CREATE INDEX "tasks_place" ON "tasks" USING btree ("chat_id","topic_id") WHERE topic_id is not null;--> statement-breakpoint
CREATE INDEX "tasks_topic_called" ON "tasks" USING btree ("topic_called_at") WHERE topic_called_at is not null;