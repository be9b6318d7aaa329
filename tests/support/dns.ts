import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Answers a name with addresses, and may answer otherwise each time; null for a name that it does not know. */
export type Zone = (name: string) => readonly string[] | null;

const [typeA, typeAaaa] = [1, 28];

/** A DNS server, as small as one can be that resolvers believe. Its answers hold for no time at all. */
export async function serveDns(place: { readonly address: string; readonly port: number }, zone: Zone) {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (message, from) => {
    asked += 1;
    socket.send(answerTo(message, zone), from.port, from.address);
  });
  socket.bind(place.port, place.address);
  await once(socket, 'listening');
  const server = `${place.address}:${socket.address().port}`;
  return { server, asked: () => asked, close: () => void socket.close() };
}

function answerTo(message: Buffer, zone: Zone): Buffer {
  const { name, end } = nameAt(message, 12);
  const type = message.readUInt16BE(end);
  const addresses = zone(name);
  const fitting = (addresses ?? []).filter((each) => isIP(each) === (type === typeA ? 4 : type === typeAaaa ? 6 : 0));
  const head = Buffer.alloc(12);
  message.copy(head, 0, 0, 2);
  head.writeUInt16BE(addresses === null ? 0x81_83 : 0x81_80, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(fitting.length, 6);
  return Buffer.concat([head, message.subarray(12, end + 4), ...fitting.map((each) => record(type, bytesOf(each)))]);
}

function nameAt(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** Points to the name of the question. */
function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc0_0c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function bytesOf(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::').map((half) => half);
  const groups = (half: string) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16)));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const all = tail === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}
