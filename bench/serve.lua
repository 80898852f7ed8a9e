-- serve.lua: wrk sends the data set in the file NAMI_BODY by POST; each connection waits NAMI_DELAY ms before a request.
local file = assert(io.open(os.getenv("NAMI_BODY"), "rb"))
wrk.method = "POST"
wrk.body = file:read("*a")
file:close()
local wait = tonumber(os.getenv("NAMI_DELAY") or "0")
if wait > 0 then
  function delay() return wait end
end
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %.0f requests/s  p50 %.2f  p90 %.2f  p99 %.2f  p99.9 %.2f  max %.2f ms  errors %d\n",
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(90) / 1e3,
    latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
