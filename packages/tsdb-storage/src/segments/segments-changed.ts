/** A file to be removed or listed has left the registry; nothing was changed. */
export class SegmentsChanged extends Error {
  override readonly name = 'SegmentsChanged';
}
