import type { OpenAPIHono } from '@hono/zod-openapi';

/** The description of everything that is served, in OpenAPI 3.1. */
export function describeApi(app: OpenAPIHono, version: string) {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Cronogram',
      version,
      description:
        'Scheduled work for chats. Errors are {"error":{"code","message","details"?}}; instants are ISO-8601 in UTC; unknown fields are refused.',
      license: { name: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'tasks', description: 'What was scheduled.' },
      { name: 'threads', description: 'All tasks of one thread.' },
      { name: 'runs', description: 'What ran, and what is coming.' },
      { name: 'schedules', description: 'When something would run.' },
      { name: 'operations', description: 'What the operator of the server wants to know and do.' },
      { name: 'health', description: 'Whether the server is well. Open to everybody.' },
    ],
  });
}
