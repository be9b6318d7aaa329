/** Heads of files, as far as anybody reads them: enough to be told apart, and nothing to look at. */

export function png(width: number, height: number, fill = ''): Buffer {
  const head = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0\x08\x02\0\0\0', 'latin1');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return Buffer.concat([head, Buffer.from(fill)]);
}

/** With segments before the one that tells the size. */
export function jpeg(width: number, height: number, segments = 1): Buffer {
  const other = Buffer.from('\xff\xe0\x00\x04ab', 'latin1');
  const frame = Buffer.from('\xff\xc0\x00\x11\x08\0\0\0\0\x03', 'latin1');
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from('\xff\xd8', 'latin1'), ...Array.from({ length: segments }, () => other), frame]);
}

export function webp(form: string, width: number, height: number, isMoving = false): Buffer {
  const file = Buffer.alloc(40);
  file.write(`RIFF\0\0\0\0WEBP${form}`, 'latin1');
  if (form === 'VP8 ') {
    file.writeUInt16LE(width, 26);
    file.writeUInt16LE(height, 28);
  } else if (form === 'VP8L') file.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    file.writeUInt8(isMoving ? 2 : 0, 20);
    file.writeUIntLE(width - 1, 24, 3);
    file.writeUIntLE(height - 1, 27, 3);
  }
  return file;
}

export const gif = Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1');

export function mp4(brand: string): Buffer {
  return Buffer.from(`\0\0\0\x20ftyp${brand}\0\0\0\0`, 'latin1');
}
