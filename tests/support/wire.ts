/** A relay before a server, whose traffic a test can stop. */
export interface Wire extends AsyncDisposable {
  /** The server's URL, by way of the relay. */
  url: string;
  /** From now on nothing is relayed, and no connection ends: as a firewall that drops packets. */
  silence(): void;
  /** New connections are relayed again; the silenced ones stay so. */
  restore(): void;
  /** Ends all connections at once. */
  cut(): void;
}

/** Puts a relay on a loopback port of its own before the server that a URL names. */
export function cuttableWire(url: string): Wire {
  const server = new URL(url);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const lines = new Set<{ silent: boolean; ends: Deno.TcpConn[] }>();
  let silent = false;

  const relay = async (from: Deno.TcpConn, to: Deno.TcpConn, line: { silent: boolean }) => {
    const buffer = new Uint8Array(65_536);
    while (true) {
      const length = await from.read(buffer);
      if (line.silent) continue;
      if (length === null) return;
      for (let sent = 0; sent < length;) sent += await to.write(buffer.subarray(sent, length));
    }
  };
  const accept = async () => {
    for await (const client of listener) {
      const upstream = await Deno.connect({ hostname: server.hostname, port: Number(server.port) });
      const line = { silent, ends: [client as Deno.TcpConn, upstream] };
      lines.add(line);
      const end = () => {
        if (line.silent) return;
        closeAll(line.ends);
        lines.delete(line);
      };
      relay(client as Deno.TcpConn, upstream, line).then(end, end);
      relay(upstream, client as Deno.TcpConn, line).then(end, end);
    }
  };
  const accepting = accept();

  const through = new URL(url);
  through.port = String((listener.addr as Deno.NetAddr).port);
  const cut = () => {
    for (const line of lines) closeAll(line.ends);
    lines.clear();
  };
  return {
    url: through.href,
    silence() {
      silent = true;
      for (const line of lines) line.silent = true;
    },
    restore() {
      silent = false;
    },
    cut,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      cut();
    },
  };
}

function closeAll(connections: Deno.TcpConn[]): void {
  for (const connection of connections) {
    try {
      connection.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }
}
