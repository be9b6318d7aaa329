import type { Bell, Room } from '../ports/outside.ts';

/** Connects rooms that ring with loops that are made later; a ring before that is not lost, because a loop starts by looking. */
export interface Switchboard extends Bell {
  connect(room: Room, ring: () => void): void;
}

export function createBell(): Switchboard {
  const rings = new Map<Room, () => void>();
  return {
    connect: (room, ring) => {
      rings.set(room, ring);
    },
    ring: (room) => rings.get(room)?.(),
  };
}
