import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { AppError } from '../domain/errors.ts';

/** What a path takes, for whoever asked for it in another way. */
export type MethodsOf = (path: string) => readonly string[];

/** Reads the routes once all of them are there, with the first question. */
export function methodsOf(app: OpenAPIHono): MethodsOf {
  let routes: { readonly shape: RegExp; readonly method: string }[] | undefined;
  return (path) => {
    routes ??= app.routes
      .filter(({ method }) => method !== 'ALL')
      .map((route) => ({ shape: shapeOf(route.path), method: route.method }));
    const found = routes.filter(({ shape }) => shape.test(path)).map(({ method }) => method);
    if (found.length === 0) return [];
    return [...new Set([...found, ...(found.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])].toSorted();
  };
}

function shapeOf(path: string): RegExp {
  const text = path.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/:\w+/g, '[^/]+');
  return new RegExp(`^${text}$`);
}

const shownMax = 100;

/** Nothing serves this request: the path takes other methods, or there is no such path. */
export function unserved(c: Context, methods: MethodsOf): AppError | Response {
  const { method, path } = c.req;
  const allowed = methods(path);
  if (allowed.length > 0) {
    c.header('allow', allowed.join(', '));
    if (method === 'OPTIONS') return c.body(null, 204);
    return new AppError('method_not_allowed', `This path takes ${allowed.join(', ')}, and not ${method.slice(0, 20)}.`);
  }
  const bare = path.replace(/\/+$/, '');
  const hint = bare !== path && methods(bare).length > 0 ? ' It is there without the slash at the end.' : '';
  return new AppError('not_found', `There is no route ${method.slice(0, 20)} ${path.slice(0, shownMax)}.${hint}`);
}
