/** A value known at plan time, in the representation that `SqlType` documents; `null` for NULL. */
export type ConstantValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | { readonly months: number; readonly days: number; readonly nanos: bigint };
