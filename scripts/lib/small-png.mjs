// Reduces screenshots to 256 colors, so that they take a third of the space in the repository.
import zlib from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const COLOR_COUNT = 256;
const [RGB, PALETTE, RGBA] = [2, 3, 6];

/** @param {Buffer} png an image of a browser: 8 bits per channel, not interlaced. @returns {Buffer} the same image with a palette. */
export function smallPng(png) {
  const { width, height, channels, pixels } = decode(png);
  const indices = Buffer.alloc(height * (width + 1)); // each line starts with filter type 0
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += channels) {
    const color = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const palette = paletteOf(counts);
  const nearest = new Map(palette.map((color, index) => [color, index]));
  for (let line = 0; line < height; line++) {
    for (let column = 0; column < width; column++) {
      const at = (line * width + column) * channels;
      const color = (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
      let index = nearest.get(color);
      if (index === undefined) {
        index = nearestIndex(palette, color);
        nearest.set(color, index);
      }
      indices[line * (width + 1) + 1 + column] = index;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE, 0, 0, 0], 8);
  const colors = Buffer.from(
    palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]),
  );
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', zlib.deflateSync(indices, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The most frequent colors. Rare colors that are close to a chosen one are left out. */
function paletteOf(counts) {
  const sorted = [...counts].sort((a, b) => b[1] - a[1]).map(([color]) => color);
  if (sorted.length <= COLOR_COUNT) return sorted;
  for (let minDistance = 64; ; minDistance *= 1.6) {
    const palette = [];
    for (const color of sorted) {
      const index = palette.length === 0 ? -1 : nearestIndex(palette, color);
      if (index === -1 || distance(palette[index], color) >= minDistance) palette.push(color);
      if (palette.length > COLOR_COUNT) break;
    }
    if (palette.length <= COLOR_COUNT) return palette;
  }
}

function nearestIndex(palette, color) {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let index = 0; index < palette.length; index++) {
    const found = distance(palette[index], color);
    if (found < least) [best, least] = [index, found];
  }
  return best;
}

const distance = (a, b) =>
  ((a >> 16) - (b >> 16)) ** 2 +
  (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 +
  ((a & 255) - (b & 255)) ** 2;

function decode(png) {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG image');
  const parts = [];
  let header;
  for (let at = 8; at < png.length; ) {
    const size = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + size);
    if (type === 'IHDR') header = body;
    if (type === 'IDAT') parts.push(body);
    at += 12 + size;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, type, , , interlace] = header.subarray(8);
  if (depth !== 8 || interlace !== 0 || (type !== RGB && type !== RGBA))
    throw new Error(`unknown PNG format: depth ${depth}, type ${type}, interlace ${interlace}`);
  const channels = type === RGB ? 3 : 4;
  return {
    width,
    height,
    channels,
    pixels: unfilter(zlib.inflateSync(Buffer.concat(parts)), { width, height, channels }),
  };
}

/** Source: PNG specification, section 9. */
function unfilter(data, { width, height, channels }) {
  const stride = width * channels;
  const pixels = Buffer.alloc(height * stride);
  for (let line = 0; line < height; line++) {
    const type = data[line * (stride + 1)];
    for (let at = 0; at < stride; at++) {
      const place = line * stride + at;
      const left = at < channels ? 0 : pixels[place - channels];
      const above = line === 0 ? 0 : pixels[place - stride];
      const corner = line === 0 || at < channels ? 0 : pixels[place - stride - channels];
      const added = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][type];
      pixels[place] = data[line * (stride + 1) + 1 + at] + added;
    }
  }
  return pixels;
}

function paeth(left, above, corner) {
  const guess = left + above - corner;
  const [byLeft, byAbove, byCorner] = [left, above, corner].map((each) => Math.abs(guess - each));
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}

function chunk(type, body) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(zlib.crc32(named));
  return Buffer.concat([size, named, sum]);
}
