CREATE TABLE "paused_kinds" (
	"kind" text PRIMARY KEY NOT NULL,
	"since" bigint NOT NULL,
	"paused_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "processes" ADD COLUMN "connections" bigint;