-- Asks the gateway whether a request may pass. Whatever goes wrong, it may not: haproxy.cfg denies what is not allowed at the end.
local URL = "http://127.0.0.1:9182/"
-- The last two make a CORS preflight.
local ASKED = { authorization = true, dpop = true, origin = true, ["access-control-request-method"] = true }
local PROMISED = { "decision", "status", "reason", "scope", "route", "charge", "policy", "token-kind" }
local IDENTITY = { "token-subject", "token-client", "token-issuer" }

-- The values of a header as a list from 1.
local function values(headers, name)
    local list = {}
    for index, value in pairs(headers[name] or {}) do
        list[index + 1] = value
    end
    return list
end

local function deny(txn, status, headers)
    local reply = txn:reply({ status = status })
    for _, name in ipairs({ "www-authenticate", "allow", "cache-control" }) do
        local value = headers and headers[name] and headers[name][0]
        if value then
            reply:add_header(name, value)
        end
    end
    txn:done(reply)
end

core.register_action("orbgate", { "http-req" }, function(txn)
    local came = txn.http:req_get_headers()
    local fields = {}
    -- X- headers can name another method or target for the backend, in spellings such as `x.`: the gateway must know that they came.
    for name in pairs(came) do
        if ASKED[name] or name:find("^x[^a-z0-9]") then
            fields[name] = values(came, name)
        end
    end
    fields["x-forwarded-method"] = { txn.f:method() }
    fields["x-forwarded-uri"] = { txn.f:pathq() }
    local answer = core.httpclient():get({ url = URL, headers = fields, timeout = 5000 })
    if not answer or answer.status == 0 then
        return deny(txn, 503)
    end
    if answer.status ~= 200 then
        return deny(txn, answer.status, answer.headers)
    end
    for _, word in ipairs(PROMISED) do
        local name = "x-orb-" .. word
        local value = answer.headers[name] and answer.headers[name][0]
        if not value then
            return deny(txn, 503)
        end
        txn.http:req_set_header(name, value)
    end
    -- Without `identity: true`, the gateway sends none of these.
    for _, word in ipairs(IDENTITY) do
        local name = "x-orb-" .. word
        if answer.headers[name] then
            txn.http:req_set_header(name, answer.headers[name][0])
        end
    end
    txn:set_var("txn.orbgate", "allow")
end)
