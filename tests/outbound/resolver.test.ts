import { expect, it, onTestFinished } from 'vitest';
import { createResolver } from '../../src/outbound/resolver.ts';
import { serveDns, type Zone } from '../support/dns.ts';
import { manualTime } from '../support/fakes.ts';

async function aResolver(zone: Zone) {
  const dns = await serveDns({ address: '127.0.0.1', port: 0 }, zone);
  onTestFinished(() => dns.close());
  return { dns, resolver: createResolver({ stopwatch: manualTime(0), servers: [dns.server] }) };
}

it('finds the addresses of both families', async () => {
  const { resolver } = await aResolver(() => ['93.184.215.14', '2606:2800::1', '93.184.215.15']);
  expect(await resolver.resolve('api.example.com')).toEqual(['93.184.215.14', '93.184.215.15', '2606:2800::1']);
});

it('takes one family where there is no other', async () => {
  const { resolver } = await aResolver((name) => (name.startsWith('six') ? ['2606:2800::1'] : ['93.184.215.14']));
  expect(await resolver.resolve('six.example.com')).toEqual(['2606:2800::1']);
  expect(await resolver.resolve('four.example.com')).toEqual(['93.184.215.14']);
});

it('tells by the code of DNS that a name is not there', async () => {
  const { resolver } = await aResolver(() => null);
  await expect(resolver.resolve('nothing.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
});

it('knows the names of this computer without asking', async () => {
  const { resolver, dns } = await aResolver(() => null);
  expect(await resolver.resolve('localhost')).toContain('127.0.0.1');
  expect(dns.asked()).toBe(0);
});

it('asks anew each time, because what a name means may have changed', async () => {
  let now = '93.184.215.14';
  const { resolver } = await aResolver(() => [now]);
  expect(await resolver.resolve('api.example.com')).toEqual(['93.184.215.14']);
  now = '93.184.215.15';
  expect(await resolver.resolve('api.example.com')).toEqual(['93.184.215.15']);
});
