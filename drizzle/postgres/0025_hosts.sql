CREATE TABLE "host_calls" (
	"host" text NOT NULL,
	"run_id" text NOT NULL,
	"turn" text NOT NULL,
	"status" text NOT NULL,
	"fence" bigint NOT NULL,
	"boot_id" text,
	"kept_at" bigint NOT NULL,
	CONSTRAINT "host_calls_host_run_id_pk" PRIMARY KEY("host","run_id")
);
--> statement-breakpoint
CREATE TABLE "hosts" (
	"host" text PRIMARY KEY NOT NULL,
	"began" text NOT NULL,
	"ends" text NOT NULL,
	"held_until" bigint NOT NULL,
	"breaker" text NOT NULL,
	"open_until" bigint NOT NULL,
	"times" bigint NOT NULL,
	"last_turn" text NOT NULL,
	"forgettable_from" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "host_calls_waiting" ON "host_calls" USING btree ("host","turn","run_id") WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX "host_calls_held" ON "host_calls" USING btree ("host") WHERE status <> 'waiting';--> statement-breakpoint
CREATE INDEX "hosts_forgettable" ON "hosts" USING btree ("forgettable_from");