CREATE TABLE "processes" (
	"id" text PRIMARY KEY NOT NULL,
	"role" text NOT NULL,
	"release" text NOT NULL,
	"kinds" text NOT NULL,
	"host" text NOT NULL,
	"pid" bigint NOT NULL,
	"started_at" bigint NOT NULL,
	"seen_at" bigint NOT NULL,
	"lease_until" bigint NOT NULL,
	"held_since" bigint NOT NULL,
	"ended_at" bigint
);
--> statement-breakpoint
ALTER TABLE "attempts" ADD COLUMN "job_id" text;--> statement-breakpoint
CREATE INDEX "deliveries_lost" ON "deliveries" USING btree ("id") WHERE status = 'sending' and substr(boot_id, 1, 5) = 'lost:';--> statement-breakpoint
CREATE INDEX "runs_lost" ON "runs" USING btree ("id") WHERE status = 'running' and substr(boot_id, 1, 5) = 'lost:';