-- Requests for wrk. Arguments: a token that may read files; `right` or `mixed`; and where each request is the same message, its path and itself.
local token, number, mixed, place, message

init = function(arguments)
   token, mixed, place, message, number = arguments[1], arguments[2] == "mixed", arguments[3], arguments[4], 0
end

local function get(path, credentials)
   local headers = {}
   if credentials then
      headers["Authorization"] = "Bearer " .. credentials
   end
   return wrk.format("GET", path, headers)
end

-- Of mixed requests every second one is denied, each for another reason, and all are different.
request = function()
   if place then
      return wrk.format("POST", place, { ["Content-Type"] = "application/json" }, message)
   end
   number = number + 1
   local file = "/api/v1/external/files/" .. number
   local case = mixed and number % 8 or 0
   if case == 1 then
      return get("/api/v1/external/store/" .. number, token) -- its scope is missing
   elseif case == 3 then
      return get(file)
   elseif case == 5 then
      return get("/elsewhere/" .. number, token)
   elseif case == 7 then
      return get(file, token:sub(1, -9) .. string.format("%08d", number % 100000000)) -- not its signature
   end
   return get(file, token)
end

done = function(summary, latency)
   local errors = summary.errors
   local broken = errors.connect + errors.read + errors.write + errors.timeout
   local figures = { summary.requests, summary.duration, errors.status, broken }
   for _, percentile in ipairs({ 50, 90, 99, 99.9 }) do
      figures[#figures + 1] = latency:percentile(percentile)
   end
   print("figures " .. table.concat(figures, " "))
end
