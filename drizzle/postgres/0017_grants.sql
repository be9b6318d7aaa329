ALTER TABLE "grants" ADD COLUMN "account_id" text;--> statement-breakpoint
CREATE INDEX "grants_of_owner" ON "grants" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "grants_of_account" ON "grants" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "grants_ending" ON "grants" USING btree ("expires_at") WHERE expires_at is not null and revoked_at is null;--> statement-breakpoint
UPDATE grants SET account_id = chat_id;
