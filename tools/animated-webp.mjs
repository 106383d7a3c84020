/**
 * Joins still WebP pictures of one size into an animation that repeats. Each frame has its picture and its
 * duration in milliseconds.
 */
export function animatedWebp(frames, { width, height }) {
  const header = Buffer.alloc(10);
  header[0] = 0b10;
  header.writeUIntLE(width - 1, 4, 3);
  header.writeUIntLE(height - 1, 7, 3);
  const parts = [
    chunk('VP8X', header),
    chunk('ANIM', Buffer.alloc(6)),
    ...frames.map((frame) => chunk('ANMF', frameOf(frame, width, height))),
  ];
  const body = Buffer.concat([Buffer.from('WEBP'), ...parts]);
  return chunk('RIFF', body);
}

function frameOf({ picture, ms }, width, height) {
  const header = Buffer.alloc(16);
  header.writeUIntLE(width - 1, 6, 3);
  header.writeUIntLE(height - 1, 9, 3);
  header.writeUIntLE(Math.max(10, Math.round(ms)), 12, 3);
  // Without blending: each frame replaces the one before.
  header[15] = 0b10;
  return Buffer.concat([header, pixelsOf(picture)]);
}

/** The chunk with the pixels of a still picture, without its header. */
function pixelsOf(picture) {
  for (let at = 12; at < picture.length;) {
    const name = picture.toString('latin1', at, at + 4);
    const end = at + 8 + picture.readUInt32LE(at + 4);
    if (name === 'VP8 ' || name === 'VP8L') return picture.subarray(at, end + (end % 2));
    at = end + (end % 2);
  }
  throw new Error('The picture has no pixels that an animation can hold.');
}

function chunk(name, content) {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(name, 'latin1'), size, content, Buffer.alloc(content.length % 2)]);
}
