export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

/** Splits `[::1]:8181` or `127.0.0.1:8181`, which settings have validated. The host is returned without brackets. */
export function splitBind(bind: string): BindAddress {
  const colon = bind.lastIndexOf(':');
  return {
    host: bind.slice(0, colon).replace(/^\[|\]$/g, ''),
    port: Number(bind.slice(colon + 1)),
  };
}
