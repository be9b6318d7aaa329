import { describe, expect, it } from 'vitest';
import { causeOf } from '../../src/domain/run.ts';

describe('the cause of a failure', () => {
  it.each([
    ['echo fails attempt 2', 'echo fails attempt 3'],
    ['no answer within 30 s', 'no answer within 5 s'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 10.0.0.7:15432'],
    ['gone at 2026-11-18T09:00:00.000Z', 'gone at 2027-01-02T10:30:01.250Z'],
    ['Date: Wed, 18 Nov 2026 09:00:00 GMT', 'Date: Thu, 19 Nov 2026 10:30:00 GMT'],
    ['order 550e8400-e29b-41d4-a716-446655440000 not found', 'order 6fa459ea-ee8a-3ca4-894e-db77e160355e not found'],
    ['bad pointer 0x7f3a9c01', 'bad pointer 0x11e0ff42'],
    ['run 01HXJ9Z3K4N5P6Q7R8 failed', 'run 01HXJ9Z3K4N5P6ZZ11 failed'],
    ['unexpected token "a" in JSON', 'unexpected token "}" in JSON'],
    ["can't open 'a.txt'", "can't open 'b.txt'"],
    ['GET https://a.example/x?at=1&b=q failed', 'GET https://a.example/x?at=2&b=z failed'],
    ['The server answered HTTP 502', 'The server answered HTTP 503'],
    ['  it   broke\n', 'It broke'],
  ])('reads the same for %j and %j', (one, other) => {
    expect(causeOf(one)).toBe(causeOf(other));
  });

  it.each([
    ['connection refused', 'connection reset'],
    ['HTTP 401', 'HTTP 404'],
    ['HTTP 404', 'HTTP 503'],
    ['status code: 403', 'status code: 429'],
    ["don't know the host", "don't know the port"],
    ['ERR_HTTP2_STREAM_CANCEL', 'ERR_HTTP2_SESSION_ERROR'],
    ['GET https://a.example/x failed', 'GET https://b.example/x failed'],
  ])('tells %j from %j', (one, other) => {
    expect(causeOf(one)).not.toBe(causeOf(other));
  });

  it('is never empty, and never long', () => {
    expect(causeOf('')).not.toBe('');
    expect(causeOf(' \n')).not.toBe('');
    expect(causeOf('it broke '.repeat(10_000)).length).toBeLessThanOrEqual(200);
  });

  it('is found quickly whatever is in the error', () => {
    for (const hostile of ['"', "'", '-1', '1-', '?a', '1.', 'mon, ', 'a1 ', '“', '0x', 'http ', ' ', 'aaa-aaa'])
      expect(causeOf(hostile.repeat(100_000)).length).toBeLessThanOrEqual(200);
  }, 3000);
});
