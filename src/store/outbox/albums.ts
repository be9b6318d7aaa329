import type { PartEnd } from '../../app/ports/outbox.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, insertAll, run, select } from '../engine/statements.ts';

/** Messages of albums beyond the first of each, whose number stands with the delivery itself. */

type Delivered = Extract<PartEnd, { readonly status: 'delivered' }>;

/** Kept with the end of the delivery, so that each of them is known as ours from the same moment on. */
export function* keepAlbums(ends: readonly PartEnd[]): Script<void> {
  const albums = ends.filter((end): end is Delivered => end.status === 'delivered' && end.ids.more !== undefined);
  if (albums.length === 0) return;
  const ids = list(albums.map(({ id }) => id));
  const parts = yield* all(select(pick(columns.deliveries, 'id', 'chatId'))`from deliveries where id in ${ids}`);
  const chatOf = new Map(parts.map(({ id, chatId }) => [id, chatId]));
  yield* insertAll(
    'albumMessages',
    albums.flatMap(({ id: deliveryId, ids: { chatId: platformChatId, more = [] } }) =>
      more.map((messageId, index) => ({
        deliveryId,
        position: index + 2,
        chatId: chatOf.get(deliveryId) ?? '',
        platformChatId,
        messageId,
      })),
    ),
    raw('on conflict (delivery_id, position) do nothing'),
  );
}

/** The numbers of all messages of deliveries that are albums, by the id of the delivery; `first` are those of the deliveries themselves. */
export function* albumsOf(first: ReadonlyMap<string, number>): Script<ReadonlyMap<string, readonly number[]>> {
  const albums = new Map([...first].map(([id, messageId]) => [id, [messageId]]));
  if (albums.size === 0) return albums;
  const found = yield* all(
    select(pick(columns.albumMessages, 'deliveryId', 'messageId'))`from album_messages
      where delivery_id in ${list([...albums.keys()])} order by delivery_id, position`,
  );
  for (const { deliveryId, messageId } of found) albums.get(deliveryId)?.push(messageId);
  return albums;
}

/** They go before the deliveries that the condition names. */
export function* dropAlbums(deliveries: Sql): Script<void> {
  yield* run(sql`delete from album_messages where delivery_id in (select id from deliveries where ${deliveries})`);
}
