CREATE TABLE "pace" (
	"scope" text PRIMARY KEY NOT NULL,
	"address" text NOT NULL,
	"boot_id" text,
	"open" bigint NOT NULL,
	"waiting" bigint NOT NULL,
	"ends" text NOT NULL,
	"held_until" bigint NOT NULL,
	"told_at" bigint NOT NULL,
	"told_ms" bigint NOT NULL,
	"free_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "lane" text;--> statement-breakpoint
ALTER TABLE "inbox" ADD COLUMN "boot_id" text;--> statement-breakpoint
CREATE INDEX "pace_busy" ON "pace" USING btree ("scope") WHERE open + waiting > 0;--> statement-breakpoint
CREATE INDEX "pace_held" ON "pace" USING btree ("free_at");--> statement-breakpoint
CREATE INDEX "deliveries_in_hand" ON "deliveries" USING btree ("chat_id") WHERE boot_id is not null and status in ('pending', 'blocked', 'sending', 'unknown');--> statement-breakpoint
CREATE INDEX "inbox_lane" ON "inbox" USING btree ("lane","update_id") WHERE status = 'received';