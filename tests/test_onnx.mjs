// test_onnx.mjs DIRECTORY: ONNX Runtime runs the networks that test_travel.py left there (TRAVEL_DIR), on the noise
// of the C file, which is that of the engine: draws and log q are the same within 1e-5.  A graph whose shapes are not
// known is loaded in a time that is quadratic in its nodes: minutes instead of seconds.
import { createRequire } from "module";
import { execFileSync } from "child_process";
import fs from "fs";
import path from "path";
const ort = createRequire(path.join(process.cwd(), "x.js"))("onnxruntime-node");
const NEAR = 1e-5, MOST_SECONDS = 30; // of processor time
const quick = { graphOptimizationLevel: "disabled", intraOpNumThreads: 1, interOpNumThreads: 1 }; // thousands of small nodes
let failed = 0;

// A program around the C file that prints noise, draws and both log q as JSON.
const around = `#include "net.c"
static void put(const char *name, int n, const double *x)
{
    printf("\\"%s\\":[", name);
    for (int i = 0; i < n; i++) printf("%s%.17g", i ? "," : "", x[i]);
    printf("]");
}
int main(void)
{
    static double data[net_num_data + 1], z[net_num_latents + 1], u[net_num_uniform + 1], e[net_num_normal + 1];
    for (int i = 0; i < net_num_data; i++) if (scanf("%lf", &data[i]) != 1) return 1;
    printf("[");
    for (int k = 0; k < 64; k++) {
        net_noise(7, (uint64_t)k, u, e);
        double log_q[2] = {net_draw(data, u, e, z)};
        log_q[1] = net_log_q(data, z);
        printf("%s{", k ? ",\\n" : "");
        put("uniform", net_num_uniform, u), printf(","), put("normal", net_num_normal, e), printf(",");
        put("latents", net_num_latents, z), printf(","), put("log_q", 2, log_q), printf("}");
    }
    printf("]");
    return 0;
}
`;
const tensor = (rows) => new ort.Tensor("float64", Float64Array.from(rows.flat()), [rows.length, rows[0].length]);
const worst = (a, b) => Math.max(...b.map((y, i) => Math.abs(a[i] - y) / Math.max(1, Math.abs(y))));

for (const name of fs.readdirSync(process.argv[2]).sort()) {
  const dir = path.join(process.argv[2], name);
  if (!fs.existsSync(dir + "/net.onnx")) continue;
  fs.writeFileSync(dir + "/around.c", around);
  execFileSync("cc", ["-std=c99", "-O1", dir + "/around.c", "-lm", "-o", dir + "/around"]);
  const numbers = fs.readFileSync(dir + "/data.txt", "utf8").trim().split(/\s+/).filter((s) => s).map(Number);
  const want = JSON.parse(execFileSync(dir + "/around", { input: numbers.join(" ") }).toString());
  const start = process.cpuUsage();
  const net = await ort.InferenceSession.create(dir + "/net.onnx", quick);
  const density = await ort.InferenceSession.create(dir + "/density.onnx", quick);
  const seconds = process.cpuUsage(start).user / 1e6;
  const all = { data: tensor([numbers]), uniform: want[0].uniform.length && tensor(want.map((w) => w.uniform)),
                normal: want[0].normal.length && tensor(want.map((w) => w.normal)), latents: tensor(want.map((w) => w.latents)) };
  const pick = (s) => Object.fromEntries(s.inputNames.map((k) => [k, all[k]]));
  const drawn = await net.run(pick(net)), q = await density.run(pick(density));
  const z = worst(Array.from(drawn.latents.data), want.flatMap((w) => w.latents));
  const log_q = Math.max(worst(Array.from(drawn.log_q.data), want.map((w) => w.log_q[0])),
                         worst(Array.from(q.log_q.data), want.map((w) => w.log_q[1])));
  console.log(`${name}: largest relative differences: draws ${z.toExponential(1)}, log q ${log_q.toExponential(1)}; loaded in ${seconds.toFixed(1)} s`);
  if (!(z <= NEAR && log_q <= NEAR && seconds < MOST_SECONDS)) failed = 1, console.log(`FAILED  ${name}`);
}
process.exit(failed);
