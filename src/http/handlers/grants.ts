import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/grants.ts';
import type { GrantView } from '../../app/ports/grants.ts';
import type { GrantChanged } from '../../app/tasks/grants.ts';
import { parseThreadKey, threadKeyOf } from '../../domain/thread.ts';
import { serve } from '../operation.ts';
import type { TaskRoutes } from './tasks.ts';
import { iso, isoOrNull } from './wire.ts';

export function serveGrants(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.listGrants, async ({ query }) => {
    const { thread_key: key, owner, task_id: taskId, state, limit, cursor } = query;
    const page = await tasks.listGrants({
      thread: key === undefined ? null : parseThreadKey(key),
      ownerId: owner ?? null,
      taskId: taskId ?? null,
      state: state ?? null,
      limit,
      cursor: cursor ?? null,
    });
    return { status: 200, body: { grants: page.items.map(wireGrant), next_cursor: page.next } };
  });
  serve(app, api.createGrant, async ({ body, idempotencyKey, traceId }) => {
    const { task_id: taskId, expires_at: expiry, scopes = null } = body;
    const wish = { scopes, expiresAt: expiry === undefined ? null : Date.parse(expiry) };
    return { status: 201, body: changed(await tasks.grant({ taskId, actor, idempotencyKey, traceId }, wish)) };
  });
  serve(app, api.revokeGrant, async ({ params: { grant_id: grantId }, traceId }) => ({
    status: 200,
    body: changed(await tasks.revoke(grantId, { actor, traceId })),
  }));
}

function changed({ grant, entryId }: GrantChanged) {
  return { grant: wireGrant(grant), entry_id: entryId };
}

function wireGrant(grant: GrantView) {
  return {
    grant_id: grant.id,
    task_ids: [...grant.taskIds],
    owner_user_key: grant.ownerId,
    thread_key: threadKeyOf(grant.thread),
    scopes: [...grant.scopes],
    expires_at: isoOrNull(grant.expiresAt),
    revoked_at: isoOrNull(grant.revokedAt),
    revoked_by: grant.revokedBy,
    created_at: iso(grant.createdAt),
    created_by: grant.createdBy,
  };
}
