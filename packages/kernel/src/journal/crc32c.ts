const TABLE = new Uint32Array(256).map((_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0x82f63b78 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
export function crc32c(parts: readonly Uint8Array[]): number {
  let c = 0xffffffff;
  for (const part of parts)
    for (let i = 0; i < part.length; i++)
      c = (TABLE[(c ^ (part[i] as number)) & 255] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
