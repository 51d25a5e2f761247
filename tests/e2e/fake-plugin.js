// Stands in for lazaret's plugin where the harness itself is tested; speaks to fake-hook.sh.
import { spawnSync } from 'node:child_process';
export default async () => ({
  'tool.execute.before': async (input, output) => {
    const message = JSON.stringify({ event: 'tool.execute.before', input, output });
    const done = spawnSync('/home/dev/.local/bin/lazaret', ['hook', 'opencode'], { input: message, encoding: 'utf8', timeout: 5000 });
    if (done.status !== 0) throw new Error(done.stdout ? JSON.parse(done.stdout).message : 'no answer');
    Object.assign(output.args, JSON.parse(done.stdout).args);
  },
});
