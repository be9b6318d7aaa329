CREATE TABLE "secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"chat_id" text,
	"name" text NOT NULL,
	"key_id" text NOT NULL,
	"box" text NOT NULL,
	"version" bigint NOT NULL,
	"hosts" text NOT NULL,
	"chats" text NOT NULL,
	"set_by" text NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"last_used_at" bigint
);
--> statement-breakpoint
ALTER TABLE "secrets" ADD CONSTRAINT "secrets_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "secrets_of_chat" ON "secrets" USING btree ("chat_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "secrets_of_operator" ON "secrets" USING btree ("name") WHERE chat_id is null;