/** What probes would have reported: nearly all well, one in fifty refused, as `src/jobs/observation.ts` has it. */
export function cannedObservation(turn: number): object {
  if (turn % 50 === 0) {
    return {
      error: { code: "connect.refused", message: "connect ECONNREFUSED 127.0.0.1:8081" },
      timings: { dns: 0.3, total: 0.9 },
      transport: "node",
    };
  }
  return {
    status: 200,
    timings: { dns: 0.312, connect: 0.415, tls: 3.102, first_byte: 5.03, total: 9.251 },
    address: "127.0.0.1",
    family: 4,
    transport: "node",
  };
}
