CREATE TABLE "token_chats" (
	"token_id" text NOT NULL,
	"chat_id" text NOT NULL,
	CONSTRAINT "token_chats_pk" PRIMARY KEY("token_id","chat_id")
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" text NOT NULL,
	"scopes" text NOT NULL,
	"confined" bigint NOT NULL,
	"expires_at" bigint,
	"last_used_at" bigint,
	"revoked_at" bigint,
	"revoked_by" text,
	"created_at" bigint NOT NULL,
	"created_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "token_chats" ADD CONSTRAINT "token_chats_token_id_tokens_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."tokens"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "token_chats" ADD CONSTRAINT "token_chats_chat_id_chats_id_fk" FOREIGN KEY ("chat_id") REFERENCES "public"."chats"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "token_chats_chat" ON "token_chats" USING btree ("chat_id");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_prefix" ON "tokens" USING btree ("prefix");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_hash" ON "tokens" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "tokens_name" ON "tokens" USING btree ("name") WHERE revoked_at is null;