// Callers leave paid calls of an MCP endpoint at each wait: for keys, a signature, a body, orbs, the response and its settlement. By seed, and in
// several threads, over a service that loses questions and answers. Each hold is settled once, and no step of a request stays. The class `Gate`
// has callers that drop their answers, and fetches that throw.
//
//   leaving [CALLS]    of each thread; 300 unless said otherwise
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "orbgate_gate.hpp"
#include "test.h"

namespace {

using namespace std::chrono_literals;
using orbgate::detail::Exchange;
using orbgate::detail::view;

constexpr int threads_at_once = 4;
constexpr std::uint64_t valid_ms = 1'800'000'000'000; // when the token is valid
constexpr char policy[] = "orbgate: 1\napis: { a: { base_path: /mcp, scopes: { 'write:voxies': { orbs: 5, routes: [MCP /tools/call/run] } } } }\n";
constexpr char tokens[] = "orbgate_token: 1\nissuers:\n  - issuer: https://id.example.com\n    audience: https://api.example.com\n"
                          "    account: { user: subject }\n    algorithms: [ES256]\n    kind: { user: [{ claim: token_kind, equals: user }] }\n";
constexpr char call[] = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run",)"
                        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})";
constexpr char result[] = R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}})";

std::string file(const std::string &name)
{
    std::ifstream stream("crates/orbgate-token/testdata/" + name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    CHECK(!text.empty());
    return text;
}

enum Place { keys, signature, body, orbs, response, settlement, places };
std::array<std::atomic<int>, places> left; // how many callers left there

struct Left {};

// One caller, whose choices follow from its seed.
class Caller {
public:
    explicit Caller(std::uint32_t seed) : random_(seed) {}

    bool one_in(std::uint32_t count) { return random_() % count == 0; }
    std::size_t below(std::size_t count) { return random_() % count; }
    // A wait, at which it might leave.
    void waits(Place place)
    {
        if (one_in(12)) {
            left[place]++;
            throw Left();
        }
    }

private:
    std::mt19937 random_;
};

// The ledger service. It loses questions and answers.
class Service {
public:
    struct Answer {
        std::uint64_t status = 0;
        std::string body;
    };

    Answer hold(Caller &caller, const std::string &id)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        Entry &entry = entries_[id];
        if (caller.one_in(8)) {
            return {};
        }
        if (!entry.is_held && caller.one_in(8)) {
            return {200, R"({"hold":"denied","reason":"insufficient","at":1})"};
        }
        entry.is_held = true;
        return caller.one_in(8) ? Answer{} : Answer{200, entry.settled.empty() ? R"({"hold":"held","state":"pending","at":1})" : R"({"hold":"held","state":"voided","at":1})"};
    }

    Answer settle(Caller &caller, std::string_view path, std::string_view commands)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (caller.one_in(4)) {
            return {};
        }
        std::string answers;
        for (std::size_t at = commands.find("\"hold\":\""); at != std::string_view::npos; at = commands.find("\"hold\":\"", at + 1)) {
            const std::string id(commands.substr(at + 8, 32));
            answers += answers.empty() ? "[" : ",";
            if (path == "/v1/extend") {
                answers += R"({"at":1})";
                continue;
            }
            CHECK(path == "/v1/settle");
            const std::string_view rest = commands.substr(at);
            const bool is_void = rest.find(R"("settlement":"void")") < rest.find('}');
            const std::string settled = is_void ? "voided" : "captured";
            CHECK(is_void || rest.find(R"("settlement":{"capture":5})") < rest.find("}}"));
            std::string &before = entries_[id].settled;
            CHECK(before.empty() || before == settled);
            before = settled;
            answers += R"({"at":1,"state":")" + settled + (is_void ? R"("})" : R"(","captured":5})");
        }
        return caller.one_in(4) ? Answer{} : Answer{200, answers + "]"};
    }

    // Every hold is settled, and both ends were seen.
    void check() const
    {
        std::map<std::string, int> counts;
        for (const auto &[id, entry] : entries_) {
            CHECK(!entry.is_held || !entry.settled.empty());
            counts[entry.is_held ? entry.settled : "none"]++;
        }
        CHECK(counts["captured"] > 0 && counts["voided"] > 0);
        std::printf("%d calls were captured and %d voided\n", counts["captured"], counts["voided"]);
    }

private:
    struct Entry {
        bool is_held = false;
        std::string settled;
    };
    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

// What a `HoldStep` wants.
struct Next {
    bool may_run = false, asks = false;
    std::uint64_t until_ms = 0;
};

// The holds of the process, which its threads share.
class Ledger {
public:
    explicit Ledger(Service &service) : service_(service)
    {
        OrbgateQuestion *const to = &exchange_.question;
        orbgate_use_ledger_begin(to);
        orbgate_use_ledger_set_ttl_ms(to, 3'600'000); // longer than the clock runs, which every wait moves on
        orbgate_use_ledger_set_timeout_ms(to, 20'000);
        orbgate_use_ledger_set_voids_cancelled(to, true);
        orbgate_use_ledger_set_voids_tool_errors(to, true);
        orbgate_use_ledger_set_voids_input_required(to, true);
        CHECK(exchange_.send() == ORBGATE_STATUS_OK && exchange_.answer.kind == ORBGATE_MESSAGE_LEDGERED);
    }

    Next hold(const std::string &id, const OrbgateMessage &charge)
    {
        return next([&](OrbgateQuestion *to) {
            const OrbgateStr account = orbgate_charge_get_account(&charge), note = orbgate_charge_get_note(&charge);
            orbgate_hold_begin(to);
            orbgate_hold_set_id(to, id.data(), id.size());
            orbgate_hold_set_account(to, account.data, account.len);
            orbgate_hold_set_amount(to, orbgate_charge_get_amount(&charge));
            orbgate_hold_set_bonus(to, orbgate_charge_get_bonus(&charge));
            orbgate_hold_set_note(to, note.data, note.len);
            orbgate_hold_set_monotonic_ms(to, ++now_);
        });
    }

    Next held(const std::string &id, const Service::Answer &answer)
    {
        return next([&](OrbgateQuestion *to) {
            orbgate_held_begin(to);
            orbgate_held_set_id(to, id.data(), id.size());
            orbgate_held_set_status(to, answer.status);
            orbgate_held_set_body(to, answer.body.data(), answer.body.size());
            orbgate_held_set_unix_ms(to, valid_ms);
            orbgate_held_set_monotonic_ms(to, ++now_);
        });
    }

    Next waited(const std::string &id, std::uint64_t until_ms)
    {
        return next([&](OrbgateQuestion *to) {
            now_ = std::max(now_, until_ms);
            orbgate_waited_begin(to);
            orbgate_waited_set_id(to, id.data(), id.size());
            orbgate_waited_set_monotonic_ms(to, now_);
        });
    }

    void ended(const std::string &id, bool has_run, bool is_cancelled, std::uint64_t end)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        OrbgateQuestion *const to = &exchange_.question;
        orbgate_ended_begin(to);
        orbgate_ended_set_id(to, id.data(), id.size());
        orbgate_ended_set_never_ran(to, !has_run);
        orbgate_ended_set_cancelled(to, is_cancelled);
        orbgate_ended_set_status(to, has_run ? 200 : 0);
        orbgate_ended_set_response(to, end);
        orbgate_ended_set_monotonic_ms(to, ++now_);
        ask(ORBGATE_MESSAGE_LEDGERED);
    }

    // Sends what there is to send, by one thread at a time.
    void send(Caller &caller)
    {
        const std::unique_lock<std::mutex> sender(sender_, std::try_to_lock);
        while (sender.owns_lock()) {
            std::unique_lock<std::mutex> lock(mutex_);
            OrbgateQuestion *const to = &exchange_.question;
            orbgate_next_ledger_call_begin(to);
            orbgate_next_ledger_call_set_monotonic_ms(to, ++now_);
            CHECK(exchange_.send() == ORBGATE_STATUS_OK);
            if (exchange_.answer.kind != ORBGATE_MESSAGE_LEDGER_CALL) {
                return;
            }
            const std::uint64_t number = orbgate_ledger_call_get_call(&exchange_.answer);
            const std::string path(view(orbgate_ledger_call_get_path(&exchange_.answer))), commands(view(orbgate_ledger_call_get_body(&exchange_.answer)));
            lock.unlock();
            const Service::Answer answer = service_.settle(caller, path, commands);
            lock.lock();
            orbgate_ledger_called_begin(to);
            orbgate_ledger_called_set_call(to, number);
            orbgate_ledger_called_set_status(to, answer.status);
            orbgate_ledger_called_set_body(to, answer.body.data(), answer.body.size());
            orbgate_ledger_called_set_monotonic_ms(to, ++now_);
            ask(ORBGATE_MESSAGE_LEDGERED);
        }
    }

    // Sends until nothing waits.
    void flush(Caller &caller)
    {
        for (int rounds = 0; rounds == 0 || orbgate_ledgered_get_waiting(&exchange_.answer) > 0; rounds++) {
            CHECK(rounds < 10'000);
            now_ += 50;
            send(caller);
        }
        CHECK(orbgate_ledgered_get_lost(&exchange_.answer) == 0);
    }

private:
    template <typename Set>
    Next next(Set set)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        set(&exchange_.question);
        ask(ORBGATE_MESSAGE_HOLD_STEP);
        const OrbgateMessage *const step = &exchange_.answer;
        return {orbgate_hold_step_get_may_run(step), orbgate_hold_step_get_path(step).len > 0, orbgate_hold_step_get_until_ms(step)};
    }

    void ask(std::uint32_t kind) { CHECK(exchange_.send() == ORBGATE_STATUS_OK && exchange_.answer.kind == kind && exchange_.step != 0); }

    Service &service_;
    std::mutex mutex_, sender_;
    Exchange exchange_;
    std::uint64_t now_ = 1;
};

// The hold of a call, which is reported however the call is left.
struct Hold {
    Hold(Ledger &of, std::string with) : ledger(of), id(std::move(with)) {}
    Hold(const Hold &) = delete;
    Hold &operator=(const Hold &) = delete;
    ~Hold()
    {
        if (is_open) {
            ledger.ended(id, has_run, is_cancelled, end);
        }
    }

    Ledger &ledger;
    std::string id; // 16 bytes
    bool is_open = false, has_run = false, is_cancelled = true;
    std::uint64_t end = 0;
};

std::string hexadecimal(const std::string &bytes)
{
    std::string text;
    for (const char byte : bytes) {
        text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

// The gate, whose host checks signatures.
struct Endpoint {
    Endpoint()
    {
        Exchange made;
        orbgate_make_begin(&made.question);
        orbgate_make_set_tokens(&made.question, tokens, std::strlen(tokens));
        orbgate_make_set_signatures_outside(&made.question, true);
        orbgate_make_set_mcp(&made.question, ORBGATE_TEXT("/mcp"));
        orbgate_make_set_mcp_initial_scopes(&made.question, ORBGATE_TEXT("write:voxies"));
        CHECK(!made.fails());
        gate = made.gate;
    }
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;
    ~Endpoint() { orbgate_gate_end(&gate); }

    // Makes the calls to the issuer; a caller that leaves meanwhile reports nothing.
    void fetch(Caller &caller)
    {
        Exchange calling(gate);
        OrbgateQuestion *const to = &calling.question;
        for (;;) {
            orbgate_next_call_begin(to);
            orbgate_next_call_set_monotonic_ms(to, tick());
            CHECK(calling.send() == ORBGATE_STATUS_OK);
            if (calling.answer.kind != ORBGATE_MESSAGE_CALL) {
                return;
            }
            while (calling.answer.kind == ORBGATE_MESSAGE_CALL) {
                caller.waits(keys);
                const bool is_keys = view(orbgate_call_get_url(&calling.answer)) == "https://id.example.com/jwks";
                const std::string answer = is_keys ? file("jwks.json") : R"({"issuer":"https://id.example.com","jwks_uri":"https://id.example.com/jwks"})";
                orbgate_called_begin(to);
                orbgate_called_set_attempt(to, orbgate_call_get_attempt(&calling.answer));
                orbgate_called_set_status(to, 200);
                orbgate_called_set_body(to, answer.data(), answer.size());
                orbgate_called_set_monotonic_ms(to, tick());
                CHECK(calling.send() == ORBGATE_STATUS_OK);
            }
        }
    }

    // Time passes quickly, so that what an issuer has missed doesn't deny many calls.
    std::uint64_t tick() { return now += 100; }

    std::uint64_t gate = 0;
    orbgate::Engine engine = orbgate::Engine::from_yaml(policy).value();
    std::string bearer = "Bearer " + file("token.jwt");
    std::atomic<std::uint64_t> now{1};
};

// Asks until the call is allowed or denied; true if it is to be charged.
bool charged(Endpoint &endpoint, Caller &caller, Exchange &asking, const std::string &id)
{
    OrbgateQuestion *const to = &asking.question;
    if (caller.one_in(32)) {
        Exchange forgetting(endpoint.gate);
        orbgate_forget_begin(&forgetting.question);
        orbgate_forget_set_issuer(&forgetting.question, ORBGATE_TEXT("https://id.example.com"));
        CHECK(forgetting.send() == ORBGATE_STATUS_OK);
    }
    orbgate_ask_begin(to);
    orbgate_ask_set_method(to, ORBGATE_TEXT("POST"));
    orbgate_ask_set_target(to, ORBGATE_TEXT("/mcp"));
    orbgate_ask_add_authorization(to, endpoint.bearer.data(), endpoint.bearer.size());
    orbgate_ask_add_header_name(to, ORBGATE_TEXT("mcp-method"));
    orbgate_ask_set_charges(to, true);
    orbgate_ask_set_hold(to, id.data(), id.size());
    orbgate_ask_set_keeps(to, caller.one_in(2));
    orbgate_ask_set_unix_ms(to, valid_ms);
    orbgate_ask_set_monotonic_ms(to, endpoint.tick());
    for (;;) {
        CHECK(asking.send(endpoint.engine.raw()) == ORBGATE_STATUS_OK);
        switch (asking.answer.kind) {
        case ORBGATE_MESSAGE_WAIT: {
            const std::uint64_t until_ms = orbgate_wait_get_until_ms(&asking.answer);
            caller.waits(keys);
            endpoint.fetch(caller);
            orbgate_is_over_begin(to);
            orbgate_is_over_set_monotonic_ms(to, endpoint.tick());
            CHECK(asking.send() == ORBGATE_STATUS_OK && asking.answer.kind == ORBGATE_MESSAGE_OVER);
            if (!orbgate_over_get_is_over(&asking.answer) && endpoint.now < until_ms) {
                endpoint.now = until_ms;
            }
            orbgate_resume_begin(to);
            orbgate_resume_set_unix_ms(to, valid_ms);
            orbgate_resume_set_monotonic_ms(to, endpoint.tick());
            break;
        }
        case ORBGATE_MESSAGE_CHECK_SIGNATURE:
            caller.waits(signature);
            orbgate_checked_begin(to);
            orbgate_checked_set_is_right(to, !caller.one_in(16));
            orbgate_checked_set_unix_ms(to, valid_ms);
            orbgate_checked_set_monotonic_ms(to, endpoint.tick());
            break;
        case ORBGATE_MESSAGE_READ_BODY:
            caller.waits(body);
            orbgate_body_begin(to);
            if (caller.one_in(16)) {
                orbgate_body_set_unreadable(to, true);
            } else {
                orbgate_body_set_body(to, call, std::strlen(call));
            }
            orbgate_body_add_header(to, ORBGATE_TEXT("content-type"), ORBGATE_TEXT("application/json"));
            orbgate_body_add_header(to, ORBGATE_TEXT("mcp-protocol-version"), ORBGATE_TEXT("2026-07-28"));
            orbgate_body_add_header(to, ORBGATE_TEXT("mcp-method"), ORBGATE_TEXT("tools/call"));
            orbgate_body_add_header(to, ORBGATE_TEXT("mcp-name"), ORBGATE_TEXT("run"));
            orbgate_body_set_unix_ms(to, valid_ms);
            break;
        case ORBGATE_MESSAGE_CHARGE: return true;
        default: CHECK(asking.answer.kind == ORBGATE_MESSAGE_ANSWER && !orbgate_answer_is_allow(&asking.answer)); return false;
        }
    }
}

// Whether the orbs are held.
bool is_held(Service &service, Caller &caller, Hold &hold, const OrbgateMessage &charge)
{
    caller.waits(orbs);
    Next next = hold.ledger.hold(hold.id, charge);
    hold.is_open = true;
    while (!next.may_run) {
        caller.waits(orbs);
        if (next.asks) {
            const Service::Answer answer = service.hold(caller, hexadecimal(hold.id));
            caller.waits(orbs);
            next = hold.ledger.held(hold.id, answer);
        } else if (next.until_ms != 0) {
            next = hold.ledger.waited(hold.id, next.until_ms);
        } else {
            hold.is_open = false;
            return false;
        }
    }
    return true;
}

// The handler answers in pieces.
void answer(Caller &caller, Hold &hold, const OrbgateMessage &charge)
{
    Exchange reading;
    OrbgateQuestion *const to = &reading.question;
    const auto read = [&] {
        CHECK(reading.send() == ORBGATE_STATUS_OK && reading.answer.kind == ORBGATE_MESSAGE_RESPONDED);
        hold.end = orbgate_responded_get_end(&reading.answer);
    };
    const OrbgateStr mcp_id = orbgate_charge_get_mcp_id(&charge);
    CHECK(mcp_id.len > 0);
    orbgate_read_response_begin(to);
    orbgate_read_response_set_mcp_id(to, mcp_id.data, mcp_id.len);
    read();
    hold.has_run = true;
    orbgate_response_begins_begin(to);
    orbgate_response_begins_add_header(to, ORBGATE_TEXT("content-type"), ORBGATE_TEXT("application/json"));
    read();
    for (std::string_view rest = result; !rest.empty();) {
        caller.waits(response);
        const std::string_view piece = rest.substr(0, caller.below(rest.size()) + 1);
        rest.remove_prefix(piece.size());
        orbgate_response_piece_begin(to);
        orbgate_response_piece_set_piece(to, piece.data(), piece.size());
        read();
    }
    caller.waits(response);
    hold.is_cancelled = false;
}

void paid_call(Endpoint &endpoint, Service &service, Ledger &ledger, std::uint32_t seed)
{
    Caller caller(seed);
    std::string id(16, '\0');
    std::memcpy(&id[0], &seed, sizeof seed);
    try {
        Exchange asking(endpoint.gate);
        if (charged(endpoint, caller, asking, id)) {
            Hold hold(ledger, id);
            if (is_held(service, caller, hold, asking.answer)) {
                answer(caller, hold, asking.answer);
            }
        }
        caller.waits(settlement);
    } catch (const Left &) {
        return; // others send its settlement
    }
    ledger.send(caller);
}

// A caller of the class `Gate`, which keeps some answers and drops others.
void ask(const orbgate::Gate &gate, const orbgate::Handle &engine, std::uint32_t seed, std::vector<orbgate::Answer> &kept)
{
    static const std::string bearer = "Bearer " + file("token.jwt");
    Caller caller(seed);
    if (caller.one_in(4)) {
        CHECK(gate.forget("https://id.example.com"));
    }
    orbgate::GateRequest request;
    request.method = "GET";
    request.target = "/api/v1/external/account";
    request.authorization = {bearer};
    request.audit = caller.one_in(2);
    orbgate::Answer answer = gate.ask(engine, request);
    CHECK(!answer && (answer.http_status() == 401u || answer.http_status() == 403u));
    if (caller.one_in(16)) {
        kept.push_back(std::move(answer));
    }
}

template <typename Run>
void at_once(int count, Run run)
{
    std::vector<std::thread> threads;
    for (int at = 0; at < count; at++) {
        threads.emplace_back(run, at);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

} // namespace

int main(int count, char **arguments)
{
    const auto calls = static_cast<std::uint32_t>(count > 1 ? std::atoi(arguments[1]) : 300);
    {
        Endpoint endpoint;
        Service service;
        Ledger ledger(service);
        at_once(threads_at_once, [&](int thread) {
            for (std::uint32_t at = 0; at < calls; at++) {
                paid_call(endpoint, service, ledger, static_cast<std::uint32_t>(thread) * calls + at);
            }
        });
        Caller last(0);
        ledger.flush(last);
        service.check();
        CHECK(orbgate_step_count() == 1); // the ledger's
        for (int place = 0; place < places; place++) {
            CHECK(left[static_cast<std::size_t>(place)] > 0);
        }
    }

    std::mutex mutex;
    std::vector<orbgate::Answer> kept;
    {
        std::atomic<std::uint32_t> fetches = 0;
        const auto fetch = [&](const orbgate::Fetch &fetch) -> std::variant<orbgate::Response, orbgate::FetchFailure> {
            Caller caller(fetches++);
            if (caller.one_in(3)) {
                throw Left();
            }
            if (caller.one_in(3)) {
                return orbgate::FetchFailure::unreachable("by seed");
            }
            const bool is_keys = fetch.url == "https://id.example.com/jwks";
            return orbgate::Response{200, "", is_keys ? file("jwks.json") : R"({"issuer":"https://id.example.com","jwks_uri":"https://id.example.com/jwks"})"};
        };
        orbgate::GateOptions options;
        options.retry = options.cooldown = 1ms;
        options.log = [](orbgate::LogLevel, std::string_view) { throw Left(); };
        options.debug = [](std::string_view) { throw Left(); };
        const auto gate = orbgate::Gate::make(orbgate::Verifier::from_yaml(file("token.yaml")).value(), fetch, options).value();
        const auto engine = orbgate::Handle::holding(orbgate::Engine::external().value()).value();
        at_once(threads_at_once, [&](int thread) {
            const orbgate::Gate own = gate.share();
            std::vector<orbgate::Answer> some;
            for (std::uint32_t at = 0; at < calls; at++) {
                ask(own, engine, static_cast<std::uint32_t>(thread) * calls + at, some);
            }
            const std::lock_guard<std::mutex> lock(mutex);
            std::move(some.begin(), some.end(), std::back_inserter(kept));
        });
        CHECK(fetches > 0);
        // Fetches end after their callers.
        for (const auto start = std::chrono::steady_clock::now(); orbgate_step_count() > 0; std::this_thread::sleep_for(1ms)) {
            CHECK(std::chrono::steady_clock::now() - start < 60s);
        }
    }
    // Answers outlive their gate.
    CHECK(!kept.empty());
    for (const orbgate::Answer &answer : kept) {
        CHECK(answer.www_authenticate()->size() > 0 && answer.words()->decision == "deny");
    }
    return 0;
}
