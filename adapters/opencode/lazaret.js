// Stands in for the plugin and closes the gate: every call is refused.
const BIN = "@LAZARET_BIN@";
export default async () => ({
  "tool.execute.before": async () => {
    throw new Error(`lazaret: the plugin that calls ${BIN} is not in this build`);
  },
});
