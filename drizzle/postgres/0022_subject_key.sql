DROP INDEX "tasks_subject";--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "subject_key" text;--> statement-breakpoint
UPDATE "tasks" SET "subject_key" = lower("subject");--> statement-breakpoint
CREATE INDEX "tasks_subject_key" ON "tasks" USING btree ("subject_key","id") WHERE subject_key is not null;