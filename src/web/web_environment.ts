/** What a request brings with it, and what is found out about it on its way. */
export interface WebEnvironment {
  /** What `Deno.serve` gives as its second argument; absent in a request that came by no connection. */
  Bindings: Partial<Pick<Deno.ServeHandlerInfo<Deno.Addr>, "remoteAddr">>;
  Variables: {
    /** Whether the viewer came with a cookie, which can be given back. */
    signedIn?: boolean;
  };
}
