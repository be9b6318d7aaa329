CREATE TABLE "acks" (
	"occurrence_id" text PRIMARY KEY NOT NULL,
	"task_id" text NOT NULL,
	"chat_id" text NOT NULL,
	"run_id" text,
	"status" text NOT NULL,
	"nag_every_ms" bigint,
	"nag_limit" bigint NOT NULL,
	"nags" bigint NOT NULL,
	"nag_at" bigint,
	"nag_delivery_id" text,
	"done_at" bigint,
	"done_by" text,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "acks_status" CHECK (status in ('open', 'done', 'given_up', 'superseded', 'dropped')),
	CONSTRAINT "acks_done" CHECK ((status = 'done') = (done_at is not null))
);
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "urgent" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "silent" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "held_until" bigint;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "only_for" text;--> statement-breakpoint
CREATE INDEX "acks_due" ON "acks" USING btree ("nag_at") WHERE status = 'open' and nag_at is not null;--> statement-breakpoint
CREATE INDEX "acks_open" ON "acks" USING btree ("task_id") WHERE status = 'open';--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("chat_id","held_until") WHERE held_until is not null;